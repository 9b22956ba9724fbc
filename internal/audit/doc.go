// Package audit attacks the functions of geosql from outside, through SQL, as an adversary would who knows
// everything but one secret. It reaches the functions through package host only. Start at Run and Attack.
//
// An attack is a pair of neighbouring inputs, and the statement that releases something about them. The
// runner draws answers under both inputs, each trial's input chosen by a fair coin. On the first draws it
// learns an event that tells the inputs apart; on the others it counts that event, which bounds the
// real privacy loss from below with a known probability of error (package bound). A bound that is above
// the charge shows that the claim is violated. Other checks need no statistics: answers have the same types,
// as many rows, the same charges and the same errors under both inputs, and dry runs neither draw nor charge.
//
// A run's false alarms have a probability of at most [FalseAlarm] altogether. An audit that finds nothing proves
// nothing: it bounds the knowledge of its own attacks. docs/audit.md has the bugs that it was shown to find.
package audit
