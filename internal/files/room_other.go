//go:build !(darwin || freebsd || linux)

package files

// Room returns -1: it is not known how much room there is.
func Room(string) int64 { return -1 }
