-- The owner of the data declares what is public: a box, whose places lie on a
-- lattice of one metre, and the values that half an hour and a day can have.
SELECT geo_domain('city', 48.80, 2.28, 48.91, 2.43, 1);

SELECT dx_universe('half_hour', 0, 2, 0.001, 'kWh') AS universes
UNION ALL SELECT dx_universe('day', 0, 50, 0.001, 'kWh');

-- Everybody gets a budget. Without one, nothing is ever answered.
SELECT budget_limit('*', 'm', 0.03) AS limits
UNION ALL SELECT budget_limit('*', 'kWh', 4)
UNION ALL SELECT budget_limit('*', 'record', 1);

-- Where are people? At epsilon 0.01 per metre, two places d metres apart give
-- any answer with probabilities that differ by a factor of exp(0.01 (d + 1.4)) at
-- most; 1.4 m is the diagonal of a cell.
SELECT person, g.lat, g.lon
FROM people, geoind_laplace(person, people.lat, people.lon, 0.01) AS g LIMIT 4;

-- What that costs in accuracy is free to ask, before or after: 95 % of the
-- answers lie within so many metres of the truth.
SELECT round(geoind_radius(0.01, 0.95, 'city'), 1) AS metres;

-- What did the street use? The data are made up, so the truth may stand beside
-- the answer; in 95 % of all runs they are within_95 apart at most.
SELECT dx_sum(household, kwh, 0.5, 'half_hour') AS answer_kwh, round(sum(kwh), 3) AS truth,
       dx_radius('sum', 0.95, 0.5, 'half_hour') AS within_95
FROM readings;

-- The same noise over a single home tells little, as it should.
SELECT household, dx_sum(household, kwh, 0.5, 'half_hour') AS answer_kwh
FROM readings GROUP BY household LIMIT 3;

-- What does a home use in a day, on average and in the middle?
SELECT dx_avg(household, kwh, 1, 'day') AS mean_kwh,
       dx_median(household, kwh, 1, 'day') AS median_kwh
FROM (SELECT household, sum(kwh) AS kwh FROM readings GROUP BY household);

-- How many people are there? Classic differential privacy, per record.
SELECT dx_count(person, 0.5) AS answer, count(*) AS truth FROM people;

-- Every answer was charged, before it was given, to those whom it is about.
SELECT account, unit, epsilon_limit, spent, remaining FROM ledger_balance
WHERE account IN ('ana', 'home01', 'home60') ORDER BY account, unit;

-- More than the rest of her budget is refused, and charged to nobody.
SELECT geoind_laplace(person, lat, lon, 0.05) FROM people WHERE person = 'ana';
