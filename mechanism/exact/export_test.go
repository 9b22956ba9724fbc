package exact

// Certify makes s decide every comparison by integer arithmetic, on the bits
// which float64 found sufficient.
func (s *Source) Certify() *Source {
	s.certify = true
	return s
}

// NextBit makes bit the next result of Bool.
func (s *Source) NextBit(bit bool) *Source {
	s.pool, s.pooled = 0, 1
	if bit {
		s.pool = 1 << 63
	}
	return s
}
