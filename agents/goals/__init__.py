"""Goals: what a conversation has to achieve, in order, with reasons; what was put off is not forgotten.

Not a list of things to do, which a model keeps for itself: obligations that the application defines. ``definition``
says what they are, ``engine`` what may be done to them, ``runner`` does it, ``mount`` gives them to an agent.
"""
