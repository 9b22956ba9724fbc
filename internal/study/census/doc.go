// Package census measures the effect of sanitised homes on the commutes of a census: section
// 5.4 of Bordenabe, Measuring Privacy with Distinguishability Metrics (2014), called the
// thesis. It imports mechanism/planar. Start at Study.
//
// A data set has a home and a workplace for every job. Its sanitised version has the same
// workplaces, and instead of each home a point that the planar Laplace mechanism draws for it
// independently (figure 5.12). A [Study] draws one such version for each setting and counts
// jobs by the distance between home and workplace, before and after (figure 5.13).
//
// Radii and commutes are in miles, as in the thesis; a mile is 1609.344 m. Distances run
// along the WGS 84 ellipsoid. Nothing is released: the counts of the original are true,
// and nothing is charged.
package census
