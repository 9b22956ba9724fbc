// Package budget counts privacy losses: epsilon as an exact fixed-point amount, the
// unit it is per, and the metrics that say how far apart two databases are. It imports helpers
// only. Start at Amount, Unit and Metric.
//
// A mechanism with loss epsilon makes two secrets at distance d
// distinguishable by at most a factor exp(epsilon*d): d_X-privacy in the sense
// of Bordenabe, "Measuring Privacy with Distinguishability Metrics" (2014),
// chapter 4. An account's balance is a sum of such epsilons. Its meaning
// depends on its unit, because the unit fixes the distance between two worlds
// that differ only in that account's secrets:
//
//   - the unit of a universe, such as kWh: the sum of the distances between the
//     account's readings in the two worlds. Charges under the Manhattan metric
//     d_1 add up to exactly this bound. Charges under d_inf are stronger, since
//     d_inf <= d_1, so a balance that mixes the two bounds d_1 only;
//   - [Metre]: the largest distance between the account's locations;
//   - [Record]: one for the account's whole contribution, whatever it was. A
//     query charges the unit once for every row it reads, because a contribution
//     of k rows is at distance k from none;
//   - [Set]: one for each step of a mechanism that protects a moving set of
//     locations;
//   - "cip:NAME": the Rényi loss under the policy NAME;
//   - [SquareMetre]: no epsilon, but a rho. For every order a > 1 the Rényi divergence
//     between the two worlds is at most a*rho*d^2, with d the largest distance between the
//     account's locations. [Delta] converts it to epsilon and delta.
//
// A [Manager] decides how a trace of locations or readings spends its epsilon from
// step to step.
//
// Amounts of different units are never added, compared or converted: they
// bound different distances. When two units protect the same secret (a reading
// released per kWh and counted per record, say), the loss about that secret is
// the sum of both bounds, each taken at its own distance.
package budget
