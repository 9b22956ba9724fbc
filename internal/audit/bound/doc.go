// Package bound bounds the privacy loss of a mechanism from below, from draws alone. It imports
// nothing of geosql's. Start at Learn and Measure.
//
// An auditor has a mechanism and two neighbouring inputs, numbered 0 and 1. Each trial chooses
// the input by a fair coin, runs the mechanism on it and keeps the answer, an [Outcome]. From
// the first trials [Learn] learns an [Event]: a set of answers that is much likelier under one
// of the inputs. The other trials are counted ([Counts]), and [Counts.Epsilon] turns the counts
// into a number which the loss of the mechanism exceeds, but for a chance of at most alpha:
//
//	learning, measuring := bound.Halves(trials)
//	event := bound.Learn(bound.ByInput(learning), alpha)
//	counts := bound.Measure(event, measuring)
//	loss := counts.Epsilon(event.Likelier, alpha)
//
// # Why it is a bound
//
// Let p and p' be the probabilities of the event under the likelier input and under the other.
// The coin is fair and independent of everything else, so a trial with an answer in the event
// had the likelier input with probability p/(p+p'), independently of other trials. Given that N
// answers are in the event, the number of them with the likelier input is therefore binomial,
// and the logit of its Clopper-Pearson lower bound is a lower confidence bound of ln(p/p'). It
// is exact for every N: no normal law, no smoothing, no assumption on the mechanism except that
// trials do not depend on each other. A mechanism with loss epsilon has ln(p/p') <= epsilon for
// every event, however the event was found, as long as it was found without the trials that are
// counted. How well Learn chooses decides how sharp a bound is, never whether it holds.
//
// Claims about Renyi divergences are bounded with a [Witness] and its [Tally], from the same
// trials: [LearnWitness], [Tally.Add], [Tally.Renyi].
//
// # Duties of the sampler
//
//   - choose the input of each trial by a fair coin of its own, and never by turns or in blocks;
//   - choose the number of trials beforehand, or by a clock, not by the answers;
//   - count every trial: one that ends in an error has the error's text as its outcome;
//   - divide alpha by the number of bounds that it means to look at.
package bound
