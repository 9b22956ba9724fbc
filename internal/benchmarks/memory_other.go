//go:build !unix

package main

import (
	"errors"
	"os"
)

func peakMemory(*os.ProcessState) (int64, error) {
	return 0, errors.New("memory is measured on Unix only")
}
