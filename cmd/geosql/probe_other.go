//go:build !unix

package main

// answersProbe reports whether the terminal says where its cursor is. Those of other systems do.
func answersProbe() (answers bool, typed string) { return true, "" }
