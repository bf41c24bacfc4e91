-- A problem of scope part: a part of the episode could not be read, and the rest is searched.
CREATE UNIQUE INDEX problem_of_part ON problem (episode) WHERE scope = 'part';
