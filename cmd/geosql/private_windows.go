package main

// keepPrivate does nothing: new files have the permissions of their folder.
func keepPrivate() {}
