//go:build !unix

package main

// keepPrivate does nothing where files have no mode.
func keepPrivate() {}
