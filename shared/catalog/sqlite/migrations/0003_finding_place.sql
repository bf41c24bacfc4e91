-- What is found around a finding is looked for by its place.
CREATE INDEX finding_place ON finding (episode, offset);
