//go:build unix

package main

import "syscall"

// keepPrivate makes every file that the command creates its owner's alone, even where SQL
// creates it, as with ATTACH and VACUUM INTO. Files for a group get their mode explicitly.
func keepPrivate() { syscall.Umask(0o077) }
