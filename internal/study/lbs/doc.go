// Package lbs measures the cost of a location service for users who report a noisy place:
// sections 5.3 and 5.5, and figure 5.6, of Bordenabe, Measuring Privacy with Distinguishability
// Metrics (2014), called the thesis. It imports mechanism/planar and optimal. Start at Study.
//
// A user wants the points of interest (POIs) within a radius of interest of their location.
// Their application reports a point z of the planar Laplace mechanism, asks the service for
// all POIs within a radius of retrieval of z, and drops POIs too far from the user.
// The radius of retrieval is fixed before z is drawn, such that with a promised confidence
// the area of interest lies in the area of retrieval (definition 5.2 and proposition 5.1).
//
// A [Study] draws reports and counts on real POIs; [Table] is table 5.1 of the thesis, computed from their density
// alone; [Comparison] is section 5.5, with priors of its own beside the uniform one; [Precision] is figure 5.6. Lengths
// are in metres and epsilon is per metre. The users' places count as public: nothing is charged.
package lbs
