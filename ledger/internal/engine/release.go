package engine

import (
	"cmp"
	"errors"
	"iter"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// release implements [ledger.Release].
type release struct {
	core *Core
	id   string
	plan ledger.ReleasePlan
	run  *Run

	charged   int64
	last      string // the last account that this process has charged
	published *ledger.Published
}

// releaseFunction is the function of the entries of releases.
const releaseFunction = "release"

// FindRelease implements [ledger.Ledger].
func (c *Core) FindRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	r, err := c.newRelease(id, plan)
	if err != nil {
		return nil, err
	}
	err = c.view(func(v Reader) error {
		_, err := r.restore(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newRelease returns a release without charges.
func (c *Core) newRelease(id string, plan ledger.ReleasePlan) (*release, error) {
	if id == "" {
		return nil, errors.New("ledger: a release has no id")
	}
	return &release{core: c, id: id, plan: plan, run: new(Run)}, nil
}

// restore reads how far the release is, if it has begun.
func (r *release) restore(from Reader) (begun bool, err error) {
	found, err := from.Release(r.id)
	if err != nil || found == nil {
		return false, err
	}
	if err := found.Plan.CheckUnchanged(r.id, r.plan); err != nil {
		return true, err
	}
	r.charged, r.published = found.Charged, found.Published
	return true, nil
}

// OpenRelease implements [ledger.Ledger].
func (c *Core) OpenRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	r, err := c.newRelease(id, plan)
	if err != nil {
		return nil, err
	}
	err = c.update(nil, func(t Transaction) error {
		begun, err := r.restore(t)
		if err == nil && !begun {
			err = t.AddRelease(id, plan)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Charged implements [ledger.Release].
func (r *release) Charged() int64 { return r.charged }

// Published implements [ledger.Release].
func (r *release) Published() *ledger.Published { return r.published }

// Charge implements [ledger.Release].
func (r *release) Charge(unit budget.Unit, items []ledger.Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := ledger.CheckOrdered(r.last, unit, items); err != nil {
		return err
	}
	charged := r.charged + int64(len(items))
	w := through(items)
	err := r.core.update(w.needs(unit), func(t Transaction) error {
		if err := r.checkCurrent(t); err != nil {
			return err
		}
		from := &Origin{r.run, t.Now(), releaseFunction, unit}
		if err := chargeItems(t, from, items, w, nothingAside, nothingAhead); err != nil {
			return err
		}
		return t.SetCharged(r.id, charged)
	})
	if err == nil {
		r.charged, r.last = charged, items[len(items)-1].Account
	}
	return err
}

// CannotPay implements [ledger.Ledger].
func (c *Core) CannotPay(unit budget.Unit, items iter.Seq2[ledger.Item, error], first *budget.Amount, each func(ledger.Item, ledger.Standing)) error {
	var unread error
	err := c.view(func(r Reader) error {
		balances, err := r.Ascending(unit, Many)
		if err != nil {
			return err
		}
		defer balances.Close()
		for item, err := range items {
			if unread = err; err != nil {
				return nil
			}
			b, err := balances.Standing(item.Account)
			if err != nil {
				return err
			}
			if first != nil && !b.Limited {
				b.Limit, b.Limited = *first, true
			}
			if b.Refuse(item.Epsilon, 0) != nil {
				each(item, b)
			}
		}
		return nil
	})
	return cmp.Or(err, unread)
}

// Seal implements [ledger.Release].
func (r *release) Seal(sha256 string) error {
	return r.core.update(nil, func(t Transaction) error {
		if err := r.checkCurrent(t); err != nil {
			return err
		}
		return t.SealRelease(r.id, sha256)
	})
}

// AllReleases implements [ledger.Ledger].
func (c *Core) AllReleases() (all []ledger.NamedRelease, err error) {
	err = c.view(func(v Reader) error {
		all = nil
		return v.Releases(func(r *NamedRelease) {
			all = append(all, ledger.NamedRelease{ID: r.ID, Plan: r.Plan, Published: r.Published})
		})
	})
	return all, err
}

// checkCurrent checks that no other process has continued the release.
func (r *release) checkCurrent(t Transaction) error {
	found, err := t.Release(r.id)
	switch {
	case err != nil:
		return err
	case found == nil || found.Charged != r.charged || found.Published != nil:
		return &ledger.ReleaseError{ID: r.id, Reason: "was continued by another process"}
	}
	return nil
}
