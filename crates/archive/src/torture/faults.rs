//! Disks that are full, fail, write short, do not flush, or write something else.
