// Package predictive measures what predictions save on recorded traces: it plays
// the users of a location service, who report their query points through the
// independent and through the predictive mechanism of package trace, and compares
// the errors and the budgets spent. It repeats section 5 of Chatzikokolakis,
// Palamidessi, Stronati, A Predictive Differentially-Private Mechanism for Mobility
// Traces, 2014, called the paper.
//
// # Query points
//
// People query a service while they stand or walk, so a [Track] is first cut down
// to the fixes recorded below 15 km/h: those that are slower than that from the fix
// before. The first of these is a query. The next one follows after a minute or,
// with a probability called jump, after an hour, either with Gaussian jitter of a
// standard deviation of a tenth: it is the first slow fix not before that time. A
// track of less than [MinPoints] query points is left out; so the larger the jump,
// the fewer and the longer are the tracks.
//
// The choice of query points is a simulation, repeatable by intent: its random
// numbers depend on the names of user and track and on the number of the
// repetition alone, and every configuration is measured on the same query points.
// The mechanisms draw from the operating system's entropy.
//
// # Measures
//
// A run ends with its track, or when nothing of its epsilon is left to report
// with, which is earlier for the independent mechanism than for the predictive
// one. What is counted is explained at [Summary]. Errors are distances along the
// ellipsoid.
package predictive
