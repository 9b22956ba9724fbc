package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/geosql/geosql/internal/silence"
)

// listen listens at an address that a flag has. Addresses of other machines need TLS. A connection ends when the client's machine has
// been silent for so long, or has acknowledged nothing of the data sent to it.
func listen(name, address string, tls bool, lost time.Duration) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("--%s %s: write an address and a port, such as 127.0.0.1:5432", name, address)
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", name, err)
	}
	if !tls && !at.IP.IsLoopback() {
		return nil, fmt.Errorf("--%s %s: other machines could connect, and may do so with TLS only: "+
			"give --tls-cert and --tls-key, or take 127.0.0.1:%d", name, address, at.Port)
	}
	network := "tcp"
	if at.IP.To4() != nil {
		network = "tcp4" // else 0.0.0.0 would be every address of IPv6 too
	}
	config := net.ListenConfig{Control: silence.Limit(lost), KeepAliveConfig: silence.KeepAlive(lost)}
	l, err := config.Listen(context.Background(), network, at.String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s: another program listens there: stop it, or take another port", name, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("--%s %s: this machine does not have that address", name, address)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("--%s %s: that port is not for everybody: take one above 1023", name, address)
	case err != nil:
		return nil, fmt.Errorf("--%s %s: %w", name, address, err)
	}
	return l, nil
}
