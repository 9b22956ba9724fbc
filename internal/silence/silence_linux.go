package silence

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limit returns a function that has a connection, or those of a listener, end when data that was sent is not acknowledged in time.
func Limit(most time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(network, _ string, c syscall.RawConn) (err error) {
		if network == "unix" {
			return nil
		}
		controlled := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(most.Milliseconds()))
		})
		if controlled != nil {
			return controlled
		}
		return err
	}
}
