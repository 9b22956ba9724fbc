package meter

import "time"

// Looked reports whether m knows if there are sealed columns.
func (m *Meter) Looked() bool { return m.looked }

// SetPatience gives dry runs so long.
func (m *Meter) SetPatience(d time.Duration) { m.patience = d }
