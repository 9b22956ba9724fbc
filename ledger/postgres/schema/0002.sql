-- Releases in shards. What the tables part and part_count hold of the input are numbers: see package
-- release for what the infos have.

CREATE TABLE geosql.sharding(
  release text COLLATE "C" PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  shards bigint NOT NULL,
  charged boolean NOT NULL DEFAULT false);

-- A shard is counted when it has a digest, and drawn when it has a file. Until leased somebody else
-- works on it.
CREATE TABLE geosql.part(
  release bigint NOT NULL, shard bigint NOT NULL,
  digest text COLLATE "C", info bytea,
  owner bytea, leased bigint NOT NULL DEFAULT 0,
  file text COLLATE "C", sha256 text COLLATE "C", draw bytea,
  PRIMARY KEY (release, shard));

-- How many rows an account has in a shard. The counts go when the release is complete.
CREATE TABLE geosql.part_count(
  release bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  shard bigint NOT NULL,
  rows bigint NOT NULL CHECK (rows > 0),
  PRIMARY KEY (release, account, shard));
CREATE INDEX part_count_shard ON geosql.part_count(release, shard);
