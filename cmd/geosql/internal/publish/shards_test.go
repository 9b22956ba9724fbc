package publish

import "testing"

func TestShardNumbers(t *testing.T) {
	for want, all := range map[string][]int{
		"no shard": nil, "shard 4": {4}, "shards 1, 2": {2, 1}, "shards 0 to 2, 5": {5, 0, 1, 2}, "shards 3, 7 to 9, 11": {9, 8, 7, 3, 11},
	} {
		if got := shardNumbers(all); got != want {
			t.Errorf("%v are %s, want %s", all, got, want)
		}
	}
}
