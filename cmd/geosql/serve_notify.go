package main

import (
	"net"
	"os"
)

// notifySystemd tells systemd that the state of the service has changed, if it has started the process and wants to know
// (sd_notify). If nobody listens any more, nobody needs to know.
func notifySystemd(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"}) // "@" begins an abstract name
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
