// Package cip measures what a whole trace with Gaussian noise loses when points depend
// on each other: figure 2 of Meehan, Chaudhuri, Location Trace Privacy Under Conditional
// Priors (2019), called the paper.
//
// A [Study] takes the times of a trace and asks for the loss of families of secret sets
// under several length scales and variances of the noise, beside what it would be if
// points were independent, as geo-indistinguishability has it. Nothing is drawn: rows
// are what [github.com/geosql/geosql/mechanism/cip.Policy.Loss] answers, which is never
// below the true loss for a length scale. Times are public; there are no locations in it.
//
// Times and length scales are in one unit; the radius, and in squares of it the
// variances, in another.
package cip
