-- Releases in shards. What the tables part and part_count hold of the input are numbers: see package
-- release for what the infos have. Shards go with their release: after a loss the owner has it
-- forgotten, and a release of the same id must be counted, charged and drawn anew.

CREATE TABLE geosql.sharding(
  release text COLLATE "C" PRIMARY KEY REFERENCES geosql.release ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  shards bigint NOT NULL,
  charged boolean NOT NULL DEFAULT false);

-- A shard is counted when it has a digest, and drawn when it has a file. Until leased somebody else
-- works on it.
CREATE TABLE geosql.part(
  release bigint NOT NULL REFERENCES geosql.sharding(number) ON DELETE CASCADE, shard bigint NOT NULL,
  digest text COLLATE "C", info bytea,
  owner bytea, leased bigint NOT NULL DEFAULT 0,
  file text COLLATE "C", sha256 text COLLATE "C", draw bytea,
  PRIMARY KEY (release, shard));

-- How many rows accounts have in a shard, many accounts in a row: see counts.go. First is the first
-- of them. The counts go when the release is complete.
CREATE TABLE geosql.part_count(
  release bigint NOT NULL REFERENCES geosql.sharding(number) ON DELETE CASCADE, shard bigint NOT NULL,
  first text COLLATE "C" NOT NULL,
  counts bytea NOT NULL,
  PRIMARY KEY (release, shard, first));
ALTER TABLE geosql.part_count ALTER COLUMN counts SET STORAGE EXTERNAL;
