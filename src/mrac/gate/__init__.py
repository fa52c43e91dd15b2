"""Gates: which anchors are trusted. One file per gate; the file's name is the gate's."""
