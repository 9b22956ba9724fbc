// Package predictive measures the savings of predictions on recorded traces. It simulates users of
// a location service who report their query points through the independent and through the
// predictive mechanism of package trace, and compares the errors and the budgets spent. It repeats section 5 of Chatzikokolakis,
// Palamidessi, Stronati, A Predictive Differentially-Private Mechanism for Mobility
// Traces, 2014, called the paper. It imports mechanism/trace. Start at Study.
//
// # Query points
//
// People query a service while they stand or walk, so a track is first reduced to the fixes
// recorded below 15 km/h, measured from the fix before. The first of these is a query. The
// next query is due after a minute or, with a probability called jump, after an hour, both
// with Gaussian jitter of a standard deviation of a tenth: it is the first slow fix not before
// that time. Tracks of less than [MinPoints] query points are left out; so the larger the
// jump, the fewer and the longer are the tracks.
//
// The choice of query points is a simulation that is repeatable on purpose: its random numbers
// depend only on the names of user and track and on the number of the repetition, and every
// configuration is measured on the same query points. The mechanisms draw from the operating
// system's entropy.
//
// # Measures
//
// A run ends with its track, or when its epsilon is used up, which is earlier for the
// independent mechanism than for the predictive one. [Summary] explains the counts. Errors
// are distances along the ellipsoid.
package predictive
