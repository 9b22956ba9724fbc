package exact

// Certify makes s decide every comparison by integer arithmetic, on the bits
// which float64 found sufficient.
func (s *Source) Certify() *Source {
	s.certify = true
	return s
}
