"""Answers of the program are understood, whatever their shape."""
import pytest

import load


@pytest.mark.parametrize("text,expected", [
    ('{"jobs": [{"id": "7", "existed": true}], "crowded": false}', {"id": "7", "existed": True}),
    ('{"jobs": [{"id": "7", "existed": false}]}', {"id": "7", "existed": False}),
    ('[{"id": "8"}]', {"id": "8", "existed": False}),
    ('{"id": "9", "run_id": "manual__x"}', {"id": "9", "existed": False}),
    ('{"run_id": "manual__x", "run": 4}', {"id": "4", "existed": False}),
    ('{"id": "5"}\n{"id": "6"}\n', {"id": "5", "existed": False}),
])
def test_an_answer_is_read(text, expected):
    assert load.answer_in(load.rows_in(load.parse(text))[0]) == expected


@pytest.mark.parametrize("text", ["", "what?", "[]", '{"jobs": []}', "3"])
def test_no_answer_is_read(text):
    assert not load.rows_in(load.parse(text)) or not load.answer_in(
        load.rows_in(load.parse(text))[0])
