"""Forms: answers that are collected in any order, checked one by one, never lost, and followed by action.

The definition is code, an instance is data. ``definition`` says what is asked; ``evaluation`` and ``engine`` decide,
purely, what holds and what follows; ``runner`` commits before anything else happens; ``mount`` gives it to an agent.
"""
