-- The afternoon of a jogger: a whole trace is given away once, for a study. Whoever
-- sees it knows how people move: where somebody is now tells much about where they
-- were a minute ago, so that noise has to hide more than each point by itself.
--
--   geosql jogger.db < examples/sql/trace_as_a_whole.sql

SELECT geo_domain('park', 40.76, -73.99, 40.81, -73.94, 1);

-- True positions, one a minute.
CREATE TABLE run(person TEXT, t TEXT, lat REAL, lon REAL);
INSERT INTO run
WITH RECURSIVE minute(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM minute WHERE i < 19)
SELECT 'ana', printf('2026-05-02T16:%02d:00Z', i), 40.7680 + 0.0012 * i, -73.9815 + 0.0009 * i FROM minute;

-- What does the noise have to be? Asking costs nothing. The least variance, in square
-- metres, with which nobody who assumes that positions are correlated as a kernel
-- says, with a length scale of up to five minutes, learns more than 1 (Rényi divergence
-- of order 2) about where within 25 metres any one minute, or any two in a row, were
-- spent. If points were independent, 625 would do for one and 1250 for two. The kernel
-- 'rbf' takes movement to be very smooth, so that neighbours give a point away.
CREATE TABLE assumed(kernel TEXT, family TEXT, policy TEXT);
INSERT INTO assumed
SELECT kernel, family, json_object('kernel', kernel, 'family', family, 'variance', 250000, 'length_scale_max', 300,
  'radius', 25, 'lambda', 2, 'epsilon', 1, 'domain', 'park')
FROM (SELECT 'rbf' AS kernel UNION ALL SELECT 'exponential'), (SELECT 'singles' AS family UNION ALL SELECT 'windows:2');
SELECT kernel, family, round(cip_sigma((SELECT json_group_array(60 * value) FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]')), policy)) AS variance
FROM assumed;

-- The policy, and one trace for each account under it.
SELECT cip_policy('study', policy) FROM assumed WHERE kernel = 'rbf' AND family = 'singles';
SELECT budget_limit('*', 'cip:study', 1);

CREATE TABLE published AS
  SELECT person, cip_trace(person, t, lat, lon, 'study') AS trace FROM run GROUP BY person;

SELECT p.person, datetime(point.value ->> 't', 'unixepoch') AS t, point.value ->> 'lat' AS lat, point.value ->> 'lon' AS lon
FROM published p, json_each(p.trace) AS point LIMIT 5;

-- A second one would not simply cost its own loss again, and is refused.
SELECT account, unit, spent, remaining FROM ledger_balance WHERE spent > 0;
