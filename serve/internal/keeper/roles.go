package keeper

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/serve/internal/role"
)

// knownRoles are the roles of the ledger. While it cannot be reached they are as they were last, so that who asks nothing that is
// charged can log in and go on.
type knownRoles struct {
	mu     sync.Mutex
	ledger ledger.Facts
	roles  role.Roles
	away   time.Time // when the ledger could not be reached last
}

const (
	rolesWithin = time.Second     // that a login or statement waits for the ledger
	rolesAway   = 2 * time.Second // that the others do not wait after that
)

// open reads the roles of a ledger for the first time.
func (k *knownRoles) open(l ledger.Facts) error {
	var roles role.Roles
	if err := roles.Update(context.Background(), l); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ledger, k.roles, k.away = l, roles, time.Time{}
	return nil
}

// look lets use look at the roles as they are now.
func (k *knownRoles) look(use func(*role.Roles)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.update(); err != nil {
		return err
	}
	use(&k.roles)
	return nil
}

func (k *knownRoles) update() error {
	if time.Since(k.away) < rolesAway {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), rolesWithin)
	defer cancel()
	err := k.roles.Update(ctx, k.ledger)
	if errors.Is(err, ledger.ErrUnreachable) {
		k.away = time.Now()
		return nil
	}
	return err
}
