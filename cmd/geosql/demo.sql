-- The owner of the data declares what is public: a box with a lattice of one
-- metre, and the values that a reading of half an hour and of a day can have.
SELECT geo_domain('city', 48.80, 2.28, 48.91, 2.43, 1);

SELECT dx_universe('half_hour', 0, 2, 0.001, 'kWh') AS universes
UNION ALL SELECT dx_universe('day', 0, 50, 0.001, 'kWh');

-- Everybody gets a budget. Without a budget there are no answers.
SELECT budget_limit('*', 'm', 0.03) AS limits
UNION ALL SELECT budget_limit('*', 'kWh', 4)
UNION ALL SELECT budget_limit('*', 'record', 2);

-- Where are people? At epsilon 0.01 per metre, an answer is at most
-- exp(0.01 (d + 1.4)) times as likely from one place as from another d metres
-- away; 1.4 m is the diagonal of a lattice cell.
INSERT INTO answers
SELECT person, g.lat, g.lon
FROM people, geoind_laplace(person, people.lat, people.lon, 0.01) AS g;
SELECT * FROM answers LIMIT 3;

-- On a map, 2 km wide: X is a true place, which may be shown since it is made up,
-- and o an answer. Answers may be used in any way: they cost nothing more.
SELECT * FROM map;

-- Asking for the accuracy is free: 95 % of the answers are within this many
-- metres of the truth.
SELECT round(geoind_radius(0.01, 0.95, 'city'), 1) AS metres;

-- How much did the street use? The data are made up, so the truth may be shown
-- beside the answer; in 95 % of all runs they differ by at most within_95.
SELECT dx_sum(household, kwh, 0.5, 'half_hour') AS answer_kwh, round(sum(kwh), 3) AS truth,
       dx_radius('sum', 0.95, 0.5, 'half_hour') AS within_95
FROM readings;

-- With the same noise, the answer for a single home tells little, as it should.
SELECT household, dx_sum(household, kwh, 0.5, 'half_hour') AS answer_kwh
FROM readings GROUP BY household LIMIT 3;

-- How much does a home use in a day, on average and in the median?
SELECT dx_avg(household, kwh, 1, 'day') AS mean_kwh,
       dx_median(household, kwh, 1, 'day') AS median_kwh
FROM (SELECT household, sum(kwh) AS kwh FROM readings GROUP BY household);

-- How many homes use how much? A histogram, in bands of 5 kWh; bars are homes.
SELECT value ->> 'lo' AS from_kwh, value ->> 'count' AS homes,
       substr(printf('%.60c', '#'), 1, max(value ->> 'count', 0)) AS bar
FROM json_each((SELECT dx_histogram(household, kwh, 1, 'day', 10)
                FROM (SELECT household, sum(kwh) AS kwh FROM readings GROUP BY household)))
WHERE value ->> 'hi' < 25;

-- How many people are there? Classic differential privacy, per record.
SELECT dx_count(person, 0.5) AS answer, count(*) AS truth FROM people;

-- Every answer was charged, before it was given, to the people it is about.
SELECT account, unit, epsilon_limit, spent, remaining FROM ledger_balance
WHERE account IN ('ana', 'home01', 'home60') ORDER BY account, unit;

-- A query that needs more than the rest of her budget is refused and charges nobody.
SELECT geoind_laplace(person, lat, lon, 0.05) FROM people WHERE person = 'ana';
