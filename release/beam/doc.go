// Package beam runs releases in shards on Apache Beam: on one machine with Prism or the direct
// runner, and on a cluster with Flink, Spark or Dataflow.
//
// A job is a list of shard numbers. Each goes to some worker, which calls
// [github.com/geosql/geosql/release.RunShards] for it. The columns and settings of the release are in a spec
// file that every worker reads for itself, so that neither the job nor its options tell more than
// the path of that file. No row passes through the runner, and a runner may run a shard again
// whenever it likes: the ledger decides which draw of a shard may be seen.
package beam
