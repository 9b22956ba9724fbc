package main

// keepPrivate does nothing: new files are for those whom their folder is for.
func keepPrivate() {}
