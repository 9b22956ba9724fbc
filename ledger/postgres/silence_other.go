//go:build !linux

package postgres

import "syscall"

// limitSilence leaves a connection as it is: only keepalives end it.
func limitSilence(string, string, syscall.RawConn) error { return nil }
