//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import "os"

// Lock does nothing. Nobody takes the file of another process.
func Lock(*os.File) (bool, error) { return true, nil }

// reusable says that no file is taken again, since nothing tells whether its process has ended.
const reusable = false
