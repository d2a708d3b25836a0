"""Table of languages: each has its files, and all lists of languages come from the table."""

from __future__ import annotations

import pytest

from workbench.core import resources
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE, matching_language
from workbench.session.preferences import CHOICES


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != SOURCE_LANGUAGE])
def test_each_language_has_its_files(name):
    assert resources.path(f"i18n/workbench_{name}.ts").is_file()


def test_preferences_offer_each_language():
    assert CHOICES["language"] == ("system", *LANGUAGES)


@pytest.mark.parametrize(
    "locale, name",
    [("en", "en"), ("en_US", "en"), ("zh_CN", "zh_CN"), ("zh_TW", "zh_CN"), ("de_DE", "en"), ("C", "en")],
)
def test_locale_is_matched_by_its_language_code(locale, name):
    assert matching_language(locale) == name
