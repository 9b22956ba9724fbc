-- A heat map of a city: a mobility company publishes where its rides begin, as GeoJSON that
-- any map shows, without telling whether a certain ride took place.
--
--   geosql rides.db < examples/sql/location_heat_map.sql

-- The company's own table: true positions (made up), most of them around the station.
CREATE TABLE ride(rider TEXT, lat REAL, lon REAL);
INSERT INTO ride
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
SELECT 'rider ' || (i % 700), 45.760 + 0.00001 * ((i * 7919) % 997) * (i % 5), 4.859 + 0.00001 * ((i * 104729) % 991) * (i % 3) FROM n;

SELECT geo_domain('lyon', 45.70, 4.77, 45.82, 4.92, 1);
SELECT budget_limit('*', 'record', 10);

-- Each ride is charged epsilon: whether it is there, and where, changes no answer's
-- probability by more than a factor of e. Cells of 250 m whose noisy count reaches the
-- threshold are listed; the threshold and the number of cells follow from public facts.
CREATE TABLE published AS SELECT dx_heatmap(rider, lat, lon, 1, 'lyon', 250) AS map FROM ride;

SELECT json_extract(map, '$.threshold') AS threshold, json_array_length(map, '$.features') AS cells FROM published;

-- The busiest cells, by their south-west corners.
SELECT json_extract(f.value, '$.properties.count') AS rides, json_extract(f.value, '$.geometry.coordinates[0][0]') AS corner
FROM published, json_each(map, '$.features') AS f ORDER BY rides DESC LIMIT 5;

-- Cells that are too small have counts below the threshold, and larger ones hide the city. An adaptive
-- map chooses: it is a quadtree with small squares where there are many rides, for the same epsilon.
CREATE TABLE adaptive AS SELECT dx_heatmap(rider, lat, lon, 1, 'lyon', 50, 'adaptive') AS map FROM ride;

SELECT f.value ->> '$.properties.cell_m' AS side, count(*) AS squares, sum(f.value ->> '$.properties.count') AS rides
FROM adaptive, json_each(map, '$.features') AS f GROUP BY side ORDER BY side;

-- How many people rode at all costs each of them once, however often they did.
SELECT dx_accounts(rider, 0.5) AS riders FROM ride;

SELECT count(*) AS accounts, min(spent), max(spent) FROM ledger_balance WHERE spent > 0;
