-- Quarters of a city: a service wants to know which quarter each customer is in, and
-- the public knows how many people are in each. Noise that is made for these quarters
-- and numbers loses the fewest metres on average, at the same epsilon.
--
--   geosql city.db < examples/sql/location_optimal_noise.sql

SELECT geo_domain('lisbon', 38.70, -9.20, 38.80, -9.09, 1);
SELECT budget_limit('*', 'm', 0.02);

-- Places and how many people each has, from public statistics (made up here). They
-- are public from now on; never count secrets for this.
CREATE TABLE quarter(name TEXT, lat REAL, lon REAL, people INTEGER);
INSERT INTO quarter VALUES
  ('Baixa', 38.7107, -9.1367, 9000), ('Alfama', 38.7130, -9.1300, 6000), ('Estrela', 38.7137, -9.1605, 8000),
  ('Campo de Ourique', 38.7180, -9.1660, 9500), ('Rato', 38.7200, -9.1545, 7000), ('Saldanha', 38.7350, -9.1450, 12000),
  ('Arroios', 38.7330, -9.1340, 11000), ('Alvalade', 38.7530, -9.1440, 10000), ('Benfica', 38.7500, -9.1950, 9000),
  ('Lumiar', 38.7730, -9.1600, 13000), ('Olivais', 38.7700, -9.1150, 9000), ('Parque', 38.7680, -9.0960, 8000);

-- Two quarters 200 m apart may be told apart by a factor of 1.5, further ones more.
SELECT optql_store('quarters', optql_build(lat, lon, people, 0.002, 1, 'lisbon')) FROM quarter;

-- What is lost, in metres, and how far from its quarter a customer may be.
SELECT key, value FROM json_each(optql_report('quarters')) WHERE key NOT IN ('name', 'domain', 'seconds');

-- A spanner has fewer constraints, and takes less time where places are many.
SELECT optql_store('sooner', optql_build(lat, lon, people, 0.002, 1.5, 'lisbon')) FROM quarter;
SELECT name, optql_report(name) ->> 'constraints' AS constraints, round(optql_report(name) ->> 'quality_loss') AS lost_m
FROM (SELECT 'quarters' AS name UNION ALL SELECT 'sooner');

-- True locations of customers.
CREATE TABLE customer(name TEXT, lat REAL, lon REAL);
INSERT INTO customer VALUES ('ana', 38.7112, -9.1359), ('bruno', 38.7522, -9.1433), ('carla', 38.7695, -9.1142), ('duarte', NULL, NULL);

-- What will it cost? Then release each once: what is kept costs no more.
SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT geoind_optimal(name, lat, lon, ''quarters'') FROM customer');
CREATE TABLE reported AS
  SELECT c.name, r.lat, r.lon, r.wkt FROM customer c, geoind_optimal(c.name, c.lat, c.lon, 'quarters') r;

-- The quarter that each report names. Somebody who knows how many people there are takes
-- it for the same one: of an optimal mechanism there is mostly nothing to gain by that.
SELECT r.name, q.name AS reported, geoind_remap(r.wkt, 'quarters') = r.wkt AS best_guess
FROM reported r JOIN quarter q ON abs(q.lat - r.lat) < 0.0001 AND abs(q.lon - r.lon) < 0.0001;

-- A courier service loses metres by road, not as the crow flies. Between these quarters
-- there are so many (made up here, public too); a row carries those from its own quarter.
CREATE TABLE road(a TEXT, b TEXT, metres REAL);
INSERT INTO road VALUES
  ('Baixa', 'Alfama', 900), ('Baixa', 'Estrela', 2900), ('Baixa', 'Rato', 2300), ('Baixa', 'Saldanha', 3400),
  ('Alfama', 'Estrela', 3700), ('Alfama', 'Rato', 3000), ('Alfama', 'Saldanha', 3800),
  ('Estrela', 'Rato', 1100), ('Estrela', 'Saldanha', 3600), ('Rato', 'Saldanha', 2500);
CREATE VIEW way AS SELECT a, b, metres FROM road UNION ALL SELECT b, a, metres FROM road;
SELECT optql_store('roads', optql_build(q.lat, q.lon, q.people, 0.002, 1, 'lisbon',
  (SELECT json_group_array(json_array(o.lat, o.lon, w.metres)) FROM way w JOIN quarter o ON o.name = w.b WHERE w.a = q.name)))
FROM quarter q WHERE q.name IN (SELECT a FROM way);

-- Roads are longer than the straight line, so that epsilon per metre of road is no
-- epsilon per metre: it has a unit of its own, and a budget.
SELECT budget_limit('*', 'm:roads', 0.01);
SELECT optql_report('roads') ->> 'unit' AS unit, round(optql_report('roads') ->> 'quality_loss') AS lost_by_road_m;
SELECT c.name, q.name AS reported
FROM customer c, geoind_optimal(c.name, c.lat, c.lon, 'roads') r
JOIN quarter q ON abs(q.lat - r.lat) < 0.0001 AND abs(q.lon - r.lon) < 0.0001;

-- The service has three branches and needs no more than the right one. Branches can be
-- released, quarters are secrets. In the industrial estate nobody lives: its weight is 0,
-- and it is protected like the others. A long way is worse than two of half the length, so
-- that the loss is the square of the distance.
CREATE VIEW spot AS
  SELECT lat, lon, people, 'secret' AS role FROM quarter
  UNION ALL VALUES (38.7600, -9.1050, 0, 'secret'),
    (38.7150, -9.1400, 0, 'output'), (38.7550, -9.1500, 0, 'output'), (38.7680, -9.1100, 0, 'output');
SELECT optql_store('branches', optql_build(lat, lon, people, 0.002, 1, 'lisbon', 'euclid', 'squared', role)) FROM spot;
SELECT r ->> 'places' AS places, r ->> 'outputs' AS outputs, r ->> 'unit' AS unit, round((r ->> 'quality_loss') / 1e6, 2) AS lost_km2
FROM (SELECT optql_report('branches') AS r);
SELECT name, wkt AS branch FROM customer, geoind_optimal(name, customer.lat, customer.lon, 'branches') AS g;

SELECT account, unit, spent, remaining FROM ledger_balance WHERE spent > 0;
