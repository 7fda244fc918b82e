"""Conversations in a database: SQLite for one machine, PostgreSQL for more. The one package that imports SQLAlchemy."""
