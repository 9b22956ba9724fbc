//go:build unix

package cli

import "syscall"

const errReaderLeft = syscall.EPIPE
