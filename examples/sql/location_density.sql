-- Where the people of a town are, from points that each of them has released: noise spreads the points by a known
-- law, and the population under which they are likeliest is found for nothing. It also tells where each point was.
--
--   geosql density.db < examples/sql/location_density.sql

SELECT geo_domain('town', 47.35, 8.48, 47.42, 8.60, 1);
SELECT budget_limit('*', 'm', 0.01);

-- True locations: most people are at the station, some at the lake.
CREATE TABLE person(name TEXT PRIMARY KEY, lat REAL, lon REAL);
INSERT INTO person WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
SELECT 'p' || i, iif(i % 4, 47.3782, 47.3608), iif(i % 4, 8.5401, 8.5372) FROM n;

-- Each person releases a point: a factor of 4 within 200 m.
CREATE TABLE released AS
  SELECT p.name, g.lat, g.lon FROM person AS p, geoind_laplace(p.name, p.lat, p.lon, 0.00693, 'town') AS g;

-- How many are in cells of 500 m: recovered, beside the number of points.
CREATE TABLE recovered AS
  SELECT round(f.value ->> '$.properties.count') AS people, f.value -> '$.geometry.coordinates[0][0]' AS corner
  FROM (SELECT geoind_density(lat, lon, 0.00693, 'town', 500) AS map FROM released), json_each(map, '$.features') AS f;
SELECT sum(people > 100) AS places, sum(people) AS people FROM recovered;
SELECT count(DISTINCT geo_cell(lat, lon, 500, 'town')) > (SELECT count(*) FROM recovered WHERE people > 0) AS points_are_spread_wider FROM released;

-- The same population is a prior, with which points move to where people probably are. No other data is needed.
SELECT prior_store('people', geoind_prior(lat, lon, 0.00693, 'town')) LIKE 'prior ''people'': %' AS stored FROM released;
CREATE TABLE guessed AS
  SELECT name, geoind_remap(lat, lon, 'people', 0.00693) AS point FROM released;

-- For the owner: how far north or south of the truth the points and the guesses are on average, in metres.
SELECT round(avg(abs(r.lat - p.lat)) * 111200) AS released_m,
       round(avg(abs(CAST(substr(point, instr(point, ' ')) AS REAL) - p.lat)) * 111200) AS guessed_m
FROM person AS p JOIN released AS r USING (name) JOIN guessed USING (name);

SELECT count(*) AS accounts, max(spent) AS most FROM ledger_balance WHERE spent > 0;
