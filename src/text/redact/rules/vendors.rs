//! The tokens of vendors, which begin with words of their own. To add a vendor is to add a row.

use super::super::judge::{always, is_random, is_strong};
use super::Letters::{Base64, Capital, Dotted, Hex, Plain, Url};
use super::{Rule, after, run, word};

/// A row or a few a vendor.
pub(in super::super) static VENDORS: &[Rule] = &[
    // Models.
    run(
        "api-key",
        &[
            "sk-proj-",
            "sk-ant-",
            "sk-svcacct-",
            "sk-or-",
            "sk-admin-",
            "sk-None-",
            "sk-lf-",
        ],
        Url,
        8,
    ),
    run("api-key", &["sk-live-", "sk-test-"], Url, 8),
    Rule {
        holds: is_strong,
        ..run("api-key", &["sk-"], Url, 16)
    },
    run(
        "api-key",
        &[
            "gsk_", "xai-", "pplx-", "csk-", "nvapi-", "tgp_v1_", "r8_", "lsv2_pt_", "lsv2_sk_",
            "esecret_",
        ],
        Url,
        24,
    ),
    run("api-key", &["ABSKQmVkcm9ja"], Base64, 40),
    run("api-key", &["fw_", "jina_", "aio_"], Plain, 24),
    run("huggingface-token", &["hf_", "api_org_"], Plain, 16),
    // Code hosts, registries, builds.
    run(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Plain,
        16,
    ),
    run("github-token", &["github_pat_"], Url, 20),
    run(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glft-", "glsoat-", "glcbt-", "glagent-",
            "gloas-", "glimt-", "glffct-",
        ],
        Dotted,
        16,
    ),
    run("gitlab-token", &["GR1348941"], Url, 16),
    run(
        "bitbucket-token",
        &["ATBB", "ATCTT3xFfG", "ATATT3xFfG"],
        Dotted,
        20,
    ),
    run("npm-token", &["npm_"], Plain, 20),
    run("pypi-token", &["pypi-"], Url, 30),
    run(
        "api-key",
        &["rubygems_", "CLOJARS_", "oy2", "cio"],
        Plain,
        32,
    ),
    run("docker-token", &["dckr_pat_", "dckr_oat_"], Url, 20),
    run(
        "api-key",
        &[
            "bkua_", "CCIPAT_", "CFPAT-", "sgp_", "squ_", "sqp_", "sqa_", "AKCp", "pnu_", "rdme_",
        ],
        Url,
        24,
    ),
    // Clouds.
    run("aws-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Capital, 16),
    run("google-key", &["AIza"], Url, 30),
    run("google-token", &["ya29."], Dotted, 20),
    run("google-token", &["GOCSPX-"], Url, 20),
    run("google-token", &["1//0"], Url, 30),
    run("api-key", &["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 40),
    run("api-key", &["LTAI", "AKID"], Plain, 16),
    run("api-key", &["v1.0-"], Url, 80),
    run(
        "api-key",
        &[
            "HRKU-",
            "rnd_",
            "fo1_",
            "napi_",
            "nfp_",
            "vcp_",
            "vck_",
            "vercel_blob_rw_",
            "sbp_",
            "sb_secret_",
            "pscale_tkn_",
            "pscale_pw_",
            "pscale_oauth_",
        ],
        Url,
        20,
    ),
    run("api-key", &["fm1r_", "fm2_", "fm1a_"], Base64, 40),
    run("api-key", &["dapi"], Hex, 32),
    word(after(
        "api-key",
        &["dt0c01."],
        r"(?<secret>dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64})",
        always,
    )),
    after(
        "api-key",
        &[".atlasv1."],
        r"\.atlasv1\.(?<secret>[A-Za-z0-9_=-]{50,})",
        always,
    ),
    run("vault-token", &["hvs.", "hvb.", "hvr."], Url, 20),
    run("api-key", &["pul-"], Hex, 40),
    run("api-key", &["tk-us-", "ico-", "tfp_", "doppler_"], Url, 24),
    run(
        "api-key",
        &[
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
        ],
        Dotted,
        30,
    ),
    run("api-key", &["ops_eyJ"], Dotted, 40),
    // Money and shops.
    run(
        "api-key",
        &[
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_",
        ],
        Plain,
        10,
    ),
    run("api-key", &["whsec_"], Base64, 20),
    run("api-key", &["sq0atp-", "sq0csp-", "sq0idp-"], Url, 20),
    run("api-key", &["EAAA"], Url, 56),
    run(
        "api-key",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        Hex,
        20,
    ),
    run(
        "api-key",
        &[
            "shippo_live_",
            "shippo_test_",
            "EZAK",
            "EZTK",
            "duffel_live_",
            "duffel_test_",
            "FLWSECK-",
            "FLWSECK_TEST-",
            "FLWSECK_LIVE-",
        ],
        Url,
        24,
    ),
    word(after(
        "api-key",
        &[
            "access-sandbox-",
            "access-production-",
            "access-development-",
        ],
        r"(?<secret>access-[a-z]+-[0-9a-f]{8}-[0-9a-f-]{27})",
        always,
    )),
    word(after(
        "api-key",
        &["access_token$"],
        r"(?<secret>access_token\$[a-z]+\$[0-9a-z]{16}\$[0-9a-f]{32})",
        always,
    )),
    // Messages, mail, people.
    run(
        "slack-token",
        &[
            "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-",
            "xoxs-",
        ],
        Dotted,
        8,
    ),
    run("slack-token", &["xapp-1-", "xapp-2-", "xapp-"], Url, 10),
    after(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?<secret>[A-Za-z0-9/+_-]{20,})",
        always,
    ),
    after(
        "webhook",
        &["/api/webhooks/"],
        r"/api/webhooks/\d{5,}/(?<secret>[A-Za-z0-9_-]{30,})",
        always,
    ),
    after(
        "webhook",
        &["webhook.office.com/"],
        r"webhook\.office\.com/webhookb2/(?<secret>[A-Za-z0-9@/-]{40,})",
        always,
    ),
    after(
        "webhook",
        &["hooks.zapier.com/"],
        r"hooks\.zapier\.com/hooks/catch/(?<secret>\d+/[A-Za-z0-9]{5,})",
        always,
    ),
    after(
        "telegram-token",
        &[":AA"],
        r"(?-i):(?<secret>AA[A-Za-z0-9_-]{32,34})\b",
        is_random,
    ),
    run("api-key", &["SK", "AC"], Hex, 32),
    word(after(
        "api-key",
        &["SG."],
        r"(?-i)(?<secret>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        always,
    )),
    run("api-key", &["key-"], Hex, 32),
    run("api-key", &["xkeysib-", "xsmtpsib-"], Url, 40),
    run("api-key", &["lin_api_", "lin_oauth_"], Plain, 30),
    run("api-key", &["ntn_", "secret_"], Plain, 40),
    run(
        "api-key",
        &["figd_", "PMAK-", "phx_", "pat-na1-", "pat-eu1-"],
        Url,
        24,
    ),
    // Watching.
    run(
        "api-key",
        &["NRAK-", "NRII-", "NRIQ-", "NRJS-", "NRSP-", "NRRA-"],
        Url,
        16,
    ),
    run("api-key", &["sntrys_", "sntryu_", "sntrya_"], Dotted, 40),
    run("api-key", &["glsa_", "glc_"], Dotted, 30),
    run("api-key", &["CTDT-", "CTDA-"], Url, 24),
    // Shapes that many use.
    word(after(
        "jwt",
        &["eyJ"],
        r"(?-i)(?<secret>eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3})",
        always,
    )),
    run(
        "private-key",
        &["AGE-SECRET-KEY-1", "AGE-PLUGIN-"],
        Capital,
        20,
    ),
];
