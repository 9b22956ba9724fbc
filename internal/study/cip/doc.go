// Package cip measures the loss of a whole trace with Gaussian noise if points depend on each other: figure 2 of
// Meehan, Chaudhuri, Location Trace Privacy Under Conditional Priors (2019), called the paper. It imports
// mechanism/cip. Start at Study.
//
// A [Study] takes the times of a trace and computes the loss of families of secret sets for
// several length scales and variances of the noise, and the loss if points were independent,
// as geo-indistinguishability assumes. Nothing is released: rows are results of
// [github.com/geosql/geosql/mechanism/cip.Policy.Hypothesis]; their loss is never below the true one for a length
// scale. Times are public; a study has no locations but those of an example.
//
// Times and length scales are in one unit. The radius is in another, and the variances are in
// its square.
package cip
