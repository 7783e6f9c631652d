"""Compaction and evidence questions inside agent frameworks. Each module needs the framework it is named after."""
