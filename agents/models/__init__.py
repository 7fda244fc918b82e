"""Language models behind one Protocol: one module per wire format, a provider table, a scripted model for tests."""
