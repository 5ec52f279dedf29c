"""Saved models: load them, read their labels without loading them, and see where they come from."""

from planetoid.persistence.loading import load
from planetoid.persistence.record import FitRecord, read_record, write_record
from planetoid.persistence.saved_model import SavedModel

__all__ = ["FitRecord", "SavedModel", "load", "read_record", "write_record"]
