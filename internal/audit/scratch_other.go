//go:build !linux

package audit

import "os"

// scratch returns the folder for databases.
func scratch() string { return os.TempDir() }
