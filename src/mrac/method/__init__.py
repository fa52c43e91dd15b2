"""Methods: a named choice of every stage. One file per method; the file's name is the method's."""
