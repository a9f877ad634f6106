"""English names of languages, for prompts."""

from __future__ import annotations

from seedbed.suites.crosslingual.scripts import language_mask

_NAMES = {
    "am": "Amharic", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew",
    "hi": "Hindi", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "km": "Khmer", "ko": "Korean", "lo": "Lao", "ms": "Malay", "my": "Burmese", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese", "zh_cn": "Simplified Chinese", "zh_hk": "Traditional Chinese (Hong Kong)",
    "zh_tw": "Traditional Chinese",
}  # fmt: skip


def language_name(tag: str) -> str:
    """`zh-TW` -> "Traditional Chinese"; a language without a name of its own here keeps its tag."""
    language_mask(tag)
    normal = tag.lower().replace("-", "_")
    return _NAMES.get(normal) or _NAMES.get(normal.partition("_")[0], tag)
