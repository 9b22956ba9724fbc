package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitSilence has a connection end when data that was sent is not acknowledged in time.
func limitSilence(network, _ string, c syscall.RawConn) (err error) {
	if network == "unix" {
		return nil
	}
	controlled := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	if controlled != nil {
		return controlled
	}
	return err
}
