-- What arguments may be, and that an error comes before a charge.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh');
--> TEXT, TEXT
SELECT budget_limit('*', 'm', 1000), budget_limit('*', 'kWh', 1000);
--> TEXT, TEXT

-- An account is TEXT or INTEGER, the same by its decimal text.
SELECT typeof(geoind_laplace(42, 39.9, 116.3, 1)), typeof(geoind_laplace('42', 39.9, 116.3, 1)), typeof(geoind_laplace('ана', 39.9, 116.3, 1));
--> 'text', 'text', 'text'
--$ 42 2/m, ана 1/m
SELECT geoind_laplace(42.0, 39.9, 116.3, 1);
--! geoind_laplace: account must be TEXT or INTEGER, got REAL 42.0
SELECT geoind_laplace(x'3432', 39.9, 116.3, 1);
--! geoind_laplace: account must be TEXT or INTEGER, got BLOB
SELECT geoind_laplace(NULL, 39.9, 116.3, 1);
--! geoind_laplace: account must be TEXT or INTEGER, got NULL
SELECT geoind_laplace('*', 39.9, 116.3, 1);
--! geoind_laplace: account...'*'...

-- Numbers.
SELECT geoind_laplace('ana', 90.5, 116.3, 1);
--! geoind_laplace: lat must lie between -90 and 90
SELECT geoind_laplace('ana', 39.9, -180.5, 1);
--! geoind_laplace: lon must lie between -180 and 180
SELECT geoind_laplace('ana', '39.9', 116.3, 1);
--! geoind_laplace: lat must be a number, got TEXT
SELECT geoind_laplace('ana', 9e999, 116.3, 1);
--! geoind_laplace: lat ...
SELECT geoind_laplace('ana', 9e999 - 9e999, 116.3, 1);
--> NULL
SELECT typeof(geoind_laplace('ana', 40, 116, 1));
--> 'text'
--$ ana 1/m
SELECT geoind_laplace('ana', 39.9, 116.3, 0);
--! geoind_laplace: epsilon must be above 0, got 0
SELECT geoind_laplace('ana', 39.9, 116.3, -1.5);
--! geoind_laplace: epsilon must be above 0, got -1.5
SELECT geoind_laplace('ana', 39.9, 116.3, NULL);
--! geoind_laplace: epsilon must be a number, got NULL
SELECT geoind_laplace('ana', 39.9, 116.3, 1e7);
--! geoind_laplace: epsilon ...
SELECT dx_value('ana', '3', 1, 'u');
--! dx_value: x must be a number, got TEXT
SELECT dx_value('ana', x'33', 1, 'u');
--! dx_value: x must be a number, got BLOB
SELECT geoind_laplace('ana', 39.9, 116.3, '0,5');
--! geoind_laplace: epsilon must be a number, got TEXT '0,5'
SELECT dx_value('ana', 3, 1, 4);
--! dx_value: universe must be TEXT, got INTEGER 4
CREATE TABLE imported (meter, kwh);
INSERT INTO imported VALUES ('ana', '0,5');
SELECT dx_value(meter, i.kwh, 1, 'u') FROM imported AS i;
--! dx_value: x must be a number, got TEXT in i.kwh; WHERE typeof(i.kwh) = 'text' finds such rows (all, if i.kwh was imported as TEXT)
SELECT * FROM geoind_laplace('ana', 39.9, 'east', 1);
--! geoind_laplace: lon must be a number, got TEXT
SELECT * FROM geoind_laplace('ana', 39.9, 116.3);
--! geoind_laplace: epsilon is missing
SELECT dx_sum('ana', 3);
--! dx_sum: sealed must be a sealed value (a call on plain columns has more arguments), got TEXT
SELECT dx_narrow(zeroblob(56), 2, 1);
--! dx_narrow: lo must be below hi, got 2 and 1
SELECT dx_person(zeroblob(56), 2, 1);
--! dx_person: lo must be below hi, got 2 and 1
SELECT length(dx_person(zeroblob(56), -20, 20)), length(dx_person(dx_narrow(zeroblob(56), 1, 2), 0, 20)), dx_person(NULL, 0, 1);
--> 73, 89, NULL
SELECT dx_person(x'00', 0, 1);
--! dx_person: sealed is not a value that was sealed for this database

-- Names.
SELECT geoind_laplace('ana', 39.9, 116.3, 1, 'nowhere');
--! geoind_laplace: domain 'nowhere' is not declared...
SELECT dx_value('ana', 3, 1, 'U');
--! dx_value: universe 'U' is not declared...
SELECT dx_value('ana', 3, 1);
--! wrong number of arguments to function dx_value()
SELECT sum(spent) FROM ledger_balance WHERE account <> '*';
--> 4.0
