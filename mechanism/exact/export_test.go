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

// AcceptProposal is the acceptance test of RoundedNormal for (k+x)/64, of which
// word is the first 64 digits of x.
func (s *Source) AcceptProposal(k int64, word uint64) bool {
	accepted, _ := s.accept(proposal{k, word})
	return accepted
}

// RoundProposal rounds c + sigma*(k+x)/64 as RoundedNormal does.
func (s *Source) RoundProposal(k int64, word uint64, c, sigma float64) int64 {
	p := proposal{k, word}
	if s.certify {
		return s.round(p, p.lazy(s), c, sigma)
	}
	return s.round(p, nil, c, sigma)
}

// BernoulliExpL2 is the acceptance test of PlanarLaplace: true with probability e^-x for
// x = rate*sqrt(i^2+j^2) - a*(|i|+|j|).
func (s *Source) BernoulliExpL2(rate, a float64, i, j int64) bool {
	l := PlanarLaplace{rate: rate, axis: DiscreteLaplace{inversion{rate: a}}}
	return l.accept(s, s.Uint32(), 32, i, j)
}

// Wait draws how many of at most limit cells have no mark before the first that has one.
func (c *SparseCounts) Wait(s *Source, limit int64) int64 { return c.wait(s, limit) }

// Accept is the acceptance test of Draw.
func (g DiscreteGaussian) Accept(s *Source, k int64) bool { return g.accept(s, k) }

// ProposalRate is the rate of the proposals.
func (g DiscreteGaussian) ProposalRate() float64 { return g.proposal.rate }
